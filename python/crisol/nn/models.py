"""Ready models, with the parameter names of torchvision."""

from .._crisol._nn import VGG, AlexNet, MobileNetV2, ResNet, RowLSTM, SimpleCNN

__all__ = ["AlexNet", "MobileNetV2", "ResNet", "RowLSTM", "SimpleCNN", "VGG"]
__all__ += ["alexnet", "mobilenet_v2", "resnet18", "resnet34", "vgg16"]


def resnet18(num_classes: int = 1000) -> ResNet:
    """torchvision's resnet18: images (N, 3, H, W) give logits (N, num_classes). 11,689,512 parameters."""
    return ResNet((2, 2, 2, 2), num_classes)


def resnet34(num_classes: int = 1000) -> ResNet:
    """torchvision's resnet34: images (N, 3, H, W) give logits (N, num_classes). 21,797,672 parameters."""
    return ResNet((3, 4, 6, 3), num_classes)


def vgg16(num_classes: int = 1000) -> VGG:
    """torchvision's vgg16: images (N, 3, H, W) give logits (N, num_classes). 138,357,544 parameters."""
    layers = [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0]
    return VGG(layers, num_classes)


def alexnet(num_classes: int = 1000) -> AlexNet:
    """torchvision's alexnet: images (N, 3, H, W) give logits (N, num_classes). 61,100,840 parameters."""
    return AlexNet(num_classes)


def mobilenet_v2(num_classes: int = 1000) -> MobileNetV2:
    """torchvision's mobilenet_v2: images (N, 3, H, W) give logits (N, num_classes). 3,504,872 parameters."""
    return MobileNetV2(num_classes)


def __dir__():
    return __all__
